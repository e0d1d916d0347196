export default function summarize(event) {
  const { payload } = event;
  return { message: payload.list.map((event) => event.name).join(event.separator ?? ', ') };
}
