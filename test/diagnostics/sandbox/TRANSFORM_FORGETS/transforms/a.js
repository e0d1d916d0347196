const seen = new Map();
const names = new Map([['a', 'Ada']]);
export let users = new Set();

export default ({ payload }) => {
  const mine = new Map();
  if (seen.has(payload.id)) return null;
  seen.set(payload.id, true);
  users.add(mine);
  return { message: names.get(payload.name) };
};
