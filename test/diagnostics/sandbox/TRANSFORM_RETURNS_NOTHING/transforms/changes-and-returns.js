export default function stage({ payload }) {
  payload.stage = payload.stage ?? 'unknown';
  return { message: `now in ${payload.stage}` };
}
