interface Payload {
  fetch: string;
}

export default ({ payload }: { payload: Payload }): unknown => ({
  message: payload.fetch,
  name: String(performance.now()),
});
