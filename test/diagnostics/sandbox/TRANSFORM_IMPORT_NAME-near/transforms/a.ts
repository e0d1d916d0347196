import { formatAmout as format } from './format.ts';

export default () => ({ message: format(1) });
