import { trim } from './own.js';

export default ({ payload }) => ({ message: trim(payload.title) });
