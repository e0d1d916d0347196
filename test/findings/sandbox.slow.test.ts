import { afterAll } from 'vitest';
import { describeModule } from '../support/finding-cases.ts';
import * as sandbox from './sandbox.ts';

describeModule('sandbox', sandbox);

afterAll(sandbox.stop);
