const token = process.env.TOKEN;

export default () => ({ message: token });
