import { describe, expect, test } from 'vitest';
import { SENDER_NOT_PROVED, type MailPass, type SetAsideMail } from '../../../src/engine/storage/storage.ts';
import { NOW } from '../../support/storage-builders.ts';
import type { Harness } from '../../support/storage-harness.ts';

const MAILBOX = 'imap:me@example.org/INBOX';
const LEASE_MS = 30_000;

const claim = (holder: string, more: { nowMs?: number; goneHolder?: string } = {}) => ({
  mailbox: MAILBOX,
  holder,
  nowMs: NOW,
  leaseMs: LEASE_MS,
  ...more,
});

const pass = (more: Partial<MailPass> = {}): MailPass => ({
  mailbox: MAILBOX,
  holder: 'a',
  nowMs: NOW,
  position: 'p1',
  floorAt: NOW - 1000,
  state: '{"n":1}',
  passed: [],
  ...more,
});

const setAside = (id: string, more: Partial<SetAsideMail> = {}): SetAsideMail => ({
  id,
  mailbox: MAILBOX,
  identity: `1:${id}`,
  state: 'set-aside',
  status: 400,
  code: 'invalid_field',
  reason: 'message required',
  from: 'Ann <ann@example.org>',
  subject: 'Hello',
  sizeBytes: 1234,
  receivedAt: NOW - 5,
  setAsideAt: NOW,
  attempts: 1,
  ...more,
});

/** What every implementation promises to a reader of mailboxes. */
export function mailContract(name: string, { fresh, again, attach }: Harness): void {
  describe(`${name}: mailboxes`, () => {
    test('gives a mailbox to one of many who ask, and to the next when the hold has ended', async () => {
      const { url, storage } = await fresh();
      const other = await attach(url);
      const asked = ['a', 'b', 'c', 'd'].map((holder, index) =>
        (index % 2 === 0 ? storage : other).claimMailbox(claim(holder)),
      );
      const [winner, ...losers] = (await Promise.all(asked)).toSorted(
        (x, y) => Number(y.isHeld) - Number(x.isHeld),
      );
      expect(winner?.isHeld).toBe(true);
      expect(losers.map(({ isHeld }) => isHeld)).toEqual([false, false, false]);
      const holder = winner?.record.holder ?? '';
      expect(losers.every(({ record }) => record.holder === holder)).toBe(true);
      expect((await storage.claimMailbox(claim(holder, { nowMs: NOW + 1 }))).isHeld).toBe(true);
      expect((await storage.claimMailbox(claim('e', { nowMs: NOW + LEASE_MS }))).isHeld).toBe(false);
      expect((await storage.claimMailbox(claim('e', { nowMs: NOW + LEASE_MS + 2 }))).isHeld).toBe(true);
    });

    test('takes a mailbox from a holder known to be gone, and from no other', async () => {
      const { storage } = await fresh();
      await storage.claimMailbox(claim('a'));
      expect((await storage.claimMailbox(claim('b', { goneHolder: 'x' }))).isHeld).toBe(false);
      expect((await storage.claimMailbox(claim('b', { goneHolder: 'a' }))).isHeld).toBe(true);
    });

    test('moves the position only for the holder, with what belongs to the step, and keeps it', async () => {
      const store = await fresh();
      await store.storage.claimMailbox(claim('a'));
      const passed = [{ identity: '1:7', fingerprint: 'f7', receivedAt: NOW }];
      expect(await store.storage.passMail(pass({ passed, setAside: setAside('s1') }))).toBe(true);
      expect(await store.storage.passMail(pass({ holder: 'b', position: 'p9', passed: [] }))).toBe(false);
      expect(await store.storage.passMail(pass({ mailbox: 'unknown' }))).toBe(false);
      const storage = await again(store);
      const [record] = await storage.listMailboxes();
      expect(record).toEqual({
        mailbox: MAILBOX,
        holder: 'a',
        heldUntil: NOW + LEASE_MS,
        position: 'p1',
        floorAt: NOW - 1000,
        state: '{"n":1}',
        updatedAt: NOW,
      });
      expect(await storage.isMailPassed(MAILBOX, '1:7')).toBe(true);
      expect(await storage.isMailPassed(MAILBOX, '1:8')).toBe(false);
      expect(await storage.isMailPassed('unknown', '1:7')).toBe(false);
      expect(await storage.listSetAsideMail({ limit: 10 })).toEqual([setAside('s1')]);
      expect(await storage.verify()).toEqual([]);
    });

    test('of mail that is not proved, keeps the newest, and offers it again by its id only', async () => {
      const { storage } = await fresh();
      await storage.claimMailbox(claim('a'));
      await storage.passMail(pass({ setAside: setAside('refused') }));
      for (let n = 0; n <= 1_000; n += 1)
        // oxlint-disable-next-line no-await-in-loop -- in order
        await storage.passMail(pass({ setAside: setAside(`u${n}`, { code: SENDER_NOT_PROVED }) }));
      const ids = (await storage.listSetAsideMail({ limit: 2_000 })).map(({ id }) => id);
      expect([ids.length, ids[0], ids[1], ids.at(-1)]).toEqual([1_001, 'refused', 'u1', 'u1000']);
      expect(await storage.retrySetAsideMail({ kind: 'all' })).toBe(1);
      expect(await storage.retrySetAsideMail({ kind: 'ids', ids: ['u0', 'u1000'] })).toBe(1);
    });

    test('a step without a position leaves the one there is', async () => {
      const { storage } = await fresh();
      await storage.claimMailbox(claim('a'));
      await storage.passMail(pass());
      const { position: _none, ...settling } = pass({ settled: 's1' });
      await storage.passMail(settling);
      expect((await storage.listMailboxes())[0]?.position).toBe('p1');
    });

    test('finds passed mail by its identity or fingerprint, and forgets what is below the floor', async () => {
      const { storage } = await fresh();
      await storage.claimMailbox(claim('a'));
      const at = (identity: string, receivedAt: number, fingerprint?: string) => ({
        identity,
        receivedAt,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      });
      const passed = [
        at('1:1', NOW, 'same'),
        at('1:2', NOW, 'same'),
        at('1:3', NOW - 900),
        at('1:4', NOW - 2000),
      ];
      await storage.passMail(pass({ passed }));
      expect(await storage.isMailPassed(MAILBOX, 'same')).toBe(true);
      expect(await storage.isMailPassed(MAILBOX, 'other')).toBe(false);
      expect(await storage.isMailPassed(MAILBOX, '1:3')).toBe(true);
      expect(await storage.isMailPassed(MAILBOX, '1:4')).toBe(false);
      await storage.passMail(pass({ passed: [at('2:1', NOW, 'same')], floorAt: NOW - 500 }));
      expect(await storage.isMailPassed(MAILBOX, '2:1')).toBe(true);
      expect(await storage.isMailPassed(MAILBOX, '1:3')).toBe(false);
    });

    test('a report renews the hold, keeps the state and says what waits; a stranger changes nothing', async () => {
      const { storage } = await fresh();
      await storage.claimMailbox(claim('a'));
      await storage.passMail(pass({ setAside: setAside('s1') }));
      await storage.passMail(pass({ setAside: setAside('s2') }));
      expect(await storage.retrySetAsideMail({ kind: 'ids', ids: ['s2', 'none'] })).toBe(1);
      const report = { ...claim('a', { nowMs: NOW + 5 }), state: '{"state":"connected"}' };
      expect(await storage.reportMailbox(report)).toEqual({ isHeld: true, retries: 1, setAside: 2 });
      expect(await storage.reportMailbox({ ...report, holder: 'b', state: 'x' })).toMatchObject({
        isHeld: false,
      });
      const [record] = await storage.listMailboxes();
      expect(record).toMatchObject({
        heldUntil: NOW + 5 + LEASE_MS,
        state: report.state,
        updatedAt: NOW + 5,
      });
      await storage.releaseMailbox({ mailbox: MAILBOX, holder: 'b', nowMs: NOW, state: 'x' });
      expect((await storage.claimMailbox(claim('c'))).isHeld).toBe(false);
      await storage.releaseMailbox({ mailbox: MAILBOX, holder: 'a', nowMs: NOW, state: '{}' });
      expect((await storage.claimMailbox(claim('c'))).isHeld).toBe(true);
    });

    test('lists, retries, drops and settles what was set aside', async () => {
      const { storage } = await fresh();
      await storage.claimMailbox(claim('a'));
      for (const id of ['s1', 's2', 's3']) await storage.passMail(pass({ setAside: setAside(id) }));
      expect((await storage.listSetAsideMail({ limit: 2 })).map(({ id }) => id)).toEqual(['s1', 's2']);
      expect(await storage.listSetAsideMail({ limit: 9, mailbox: 'unknown' })).toEqual([]);
      expect(await storage.retrySetAsideMail({ kind: 'all' })).toBe(3);
      expect(await storage.listSetAsideMail({ limit: 9, mailbox: MAILBOX, state: 'retry' })).toHaveLength(3);
      await storage.passMail(pass({ settled: 's1' }));
      await storage.passMail(pass({ setAside: setAside('s2', { attempts: 2, reason: 'again' }) }));
      expect(await storage.listSetAsideMail({ limit: 9, state: 'set-aside' })).toEqual([
        setAside('s2', { attempts: 2, reason: 'again' }),
      ]);
      expect(await storage.dropSetAsideMail({ kind: 'ids', ids: ['s2'] })).toBe(1);
      expect(await storage.dropSetAsideMail({ kind: 'all' })).toBe(1);
      expect(await storage.listSetAsideMail({ limit: 9 })).toEqual([]);
    });
  });
}
