import { readFileSync } from 'node:fs';
import lodash from 'lodash';

export default () => ({ message: lodash.trim(readFileSync('/etc/hostname', 'utf8')) });
