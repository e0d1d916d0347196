const table = await Promise.resolve({ title: 'x' });

export default () => ({ message: table.title });
