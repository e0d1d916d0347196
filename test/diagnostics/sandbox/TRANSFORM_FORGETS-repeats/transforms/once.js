const seen = new Set();
const names = new Map();

export default ({ payload }) => {
  if (seen.has(payload.id)) return null;
  seen.add(payload.id);
  if (!names.has(payload.user)) names.set(payload.user, payload.name);
  return { message: names.get(payload.user) };
};
