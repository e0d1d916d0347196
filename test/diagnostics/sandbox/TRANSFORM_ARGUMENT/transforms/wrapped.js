import { defineTransform } from 'sluice';

export default defineTransform(async ({ data, type }) => ({ message: `${type} ${data.id}` }));
