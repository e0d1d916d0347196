interface Order {
  total: number;
}

export const transform = async (order: Order) => ({ message: `paid ${order.total}` });
