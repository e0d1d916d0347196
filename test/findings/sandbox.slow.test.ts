import { afterAll } from 'vitest';
import { describeRoom } from '../support/finding-cases.ts';
import * as sandbox from './sandbox.ts';

describeRoom('sandbox', sandbox);

afterAll(sandbox.stop);
