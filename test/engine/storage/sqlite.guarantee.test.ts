import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { storageContract } from './contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-storage-'));
let stores = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storageContract(
  'sqlite',
  async (options) => {
    stores += 1;
    const url = `sqlite:${join(folder, String(stores), 'sluice.db')}`;
    return { url, storage: await openStorage(url, options) };
  },
  openStorage,
  { isShared: false },
);
