import { defineTransform } from 'sluice';

export default defineTransform<{ title: string }>(({ payload }) => {
  message: payload.title;
});
