import { format } from './lib/format';

export default () => ({ message: format() });
