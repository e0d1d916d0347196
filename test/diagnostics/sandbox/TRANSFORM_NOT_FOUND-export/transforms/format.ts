export const short = ({ payload }: { payload: { title: string } }) => ({ message: payload.title });
