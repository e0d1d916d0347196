import { format } from './lib/fromat.ts';

export default () => ({ message: format() });
