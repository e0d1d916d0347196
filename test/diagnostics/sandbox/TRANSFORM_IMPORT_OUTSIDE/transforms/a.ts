import secrets from '../case.json';

export default () => ({ message: JSON.stringify(secrets) });
