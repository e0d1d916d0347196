export default () => ({ message: process.env.GREETING, name: process.env['NAME'] });
