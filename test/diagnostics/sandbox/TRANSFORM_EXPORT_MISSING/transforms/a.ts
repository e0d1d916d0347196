export const summarize = () => ({ message: 'x' });
