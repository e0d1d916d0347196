export default { message: 'x' };
export const build = () => ({ message: 'x' });
