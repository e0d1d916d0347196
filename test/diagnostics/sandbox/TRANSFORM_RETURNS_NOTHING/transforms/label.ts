export default ({ payload }: { payload: { title: string } }) => { message: `New: ${payload.title}` };
