import { later } from './lib.js';

export default async ({ payload }) => {
  if (process.argv.length > 2) process.exit(1);
  const answer = await fetch(payload.url);
  const setInterval = () => 1;
  setInterval();
  return { message: await later(answer), name: typeof WebSocket === 'undefined' ? '' : new WebSocket('x') };
};
