export const shape = (context) => ({ message: `${context.payload.title} at ${context.now}`, to: context.query.to });
export default (order) => order.total;
