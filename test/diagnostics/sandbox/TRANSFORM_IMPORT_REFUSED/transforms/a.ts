import { readFileSync } from 'node:fs';
import lodash from 'lodash';
import dayjs from 'dayjs';
import 'dayjs/locale/de.js';
import { v4 } from 'uuid';
import axios from 'axios';
import yaml from 'js-yaml';
import zlib from 'node:zlib';

export default () => ({ message: lodash.trim(readFileSync('/etc/hostname', 'utf8')) + dayjs() + v4() + axios + yaml + zlib });
