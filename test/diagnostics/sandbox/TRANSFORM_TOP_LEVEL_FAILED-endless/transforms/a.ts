let n = 0;
while (true) n += 1;

export default () => ({ message: String(n) });
