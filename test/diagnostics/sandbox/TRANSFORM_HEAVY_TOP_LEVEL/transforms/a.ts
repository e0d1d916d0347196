const table = Array.from({ length: 50_000 }, (_, n) => ({ n }));

export default () => ({ message: String(table.length) });
