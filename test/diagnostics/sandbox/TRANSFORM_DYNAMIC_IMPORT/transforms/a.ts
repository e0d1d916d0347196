export default async ({ payload }) => (await import(`./${payload.kind}.ts`)).default(payload);
