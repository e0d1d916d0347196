import { defineTransform } from 'sluice';

interface Payment {
  amount: number;
}

export default defineTransform<Payment>(({ payload }) => ({
  message: payload.amount,
  deliver: payload.ammount > 0,
}));
