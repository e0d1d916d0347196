export default ({ payload }: { payload: { lines: readonly string[] } }) => {
  text: for (const line of payload.lines) {
    if (line !== '') break text;
  }
  return { message: payload.lines.join('\n') };
};
