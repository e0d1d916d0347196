import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  answerChallenge,
  type Challenge,
  ChallengeSettings,
  compileChallenge,
} from '../../../src/engine/verify/verify.ts';
import type { ChallengeFault, ChallengeResult } from '../../../src/engine/verify/challenge.ts';

interface Question {
  readonly method?: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(
  challenge: Challenge,
  { method = 'POST', body, query = {}, headers = {} }: Question,
): ChallengeResult {
  return answerChallenge(challenge, {
    method,
    url: 'https://hooks.example.com/hooks/x',
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body === undefined ? '' : JSON.stringify(body), 'utf8'),
    query,
  });
}

const text = (body: string): object => ({ kind: 'answer', contentType: 'text/plain', body, headers: [] });

const json = (body: string): object => ({
  kind: 'answer',
  contentType: 'application/json',
  body,
  headers: [],
});

/** A question that is refused, and why. */
const wrong = (why: ChallengeFault): object => ({ kind: 'wrong', why });

describe('challenges', () => {
  test('a field of a form is echoed as a member of JSON is', () => {
    const challenge = compileChallenge(ChallengeSettings.parse({ echo: 'body.webhook_id', as: 'text' }), {});
    const request = { method: 'POST', url: '', rawHeaders: [], query: {} };
    const of = (body: string) => answerChallenge(challenge, { ...request, body: Buffer.from(body) });
    expect(of('webhook_id=7')).toEqual(text('7'));
    expect(of('order=7').kind).toBe('none');
    expect(of('{"order":1}').kind).toBe('none');
  });

  test('slack echoes its challenge, and compares the token where one is set', () => {
    const body = {
      token: 'tok',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
      type: 'url_verification',
    };
    expect(ask({ kind: 'slack' }, { body })).toEqual(text(body.challenge));
    expect(ask({ kind: 'slack', token: 'tok' }, { body })).toEqual(text(body.challenge));
    expect(ask({ kind: 'slack', token: 'other' }, { body })).toEqual(wrong('token'));
    expect(ask({ kind: 'slack', token: '' }, { body: { ...body, token: '' } })).toEqual(wrong('token'));
  });

  test('meta echoes only to who knows the verify token', () => {
    const query = {
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': 'meatyhamhock',
    };
    expect(ask({ kind: 'meta', token: 'meatyhamhock' }, { method: 'GET', query })).toEqual(
      text('1158201444'),
    );
    expect(ask({ kind: 'meta', token: 'other' }, { method: 'GET', query })).toEqual(wrong('token'));
    expect(ask({ kind: 'meta' }, { method: 'GET', query: { ...query, 'hub.verify_token': '' } })).toEqual({
      ...wrong('token'),
    });
  });

  test.each<readonly [string, object, Question, object]>([
    ['Dropbox', { echo: 'query.challenge' }, { method: 'GET', query: { challenge: 'abc' } }, text('abc')],
    ['monday.com', { echo: 'body.challenge' }, { body: { challenge: 'a"b' } }, json('{"challenge":"a\\"b"}')],
    [
      'Strava',
      { echo: 'query.hub.challenge', as: 'json' },
      { method: 'GET', query: { 'hub.challenge': '15f7' } },
      json('{"hub.challenge":"15f7"}'),
    ],
    [
      'Okta',
      { echo: 'headers.X-Okta-Verification-Challenge', as: 'json', name: 'verification' },
      { method: 'GET', headers: { 'x-okta-verification-challenge': 'xyz' } },
      json('{"verification":"xyz"}'),
    ],
    [
      'Asana',
      { echo: 'headers.x-hook-secret' },
      { body: {}, headers: { 'X-Hook-Secret': 'b537' } },
      { ...text(''), headers: ['x-hook-secret', 'b537'] },
    ],
    ['an event', { echo: 'body.challenge' }, { body: { event: {} } }, { kind: 'none' }],
    ['a POST', { echo: 'query.challenge' }, { query: { challenge: 'abc' }, body: {} }, { kind: 'none' }],
    ['a name of every object', { echo: 'query.toString' }, { method: 'GET' }, { kind: 'none' }],
    ['white space', { echo: 'headers.x-a' }, { headers: { 'x-a': 'a b' } }, wrong('text')],
    [
      'a long one',
      { echo: 'body.a' },
      { body: { a: 'x'.repeat(1000) } },
      json(`{"a":"${'x'.repeat(1000)}"}`),
    ],
  ])(
    '%s gets back what it sent, from where the mapping says to where it says',
    (_who, written, asked, answer) => {
      expect(ask(compileChallenge(ChallengeSettings.parse(written), {}), asked)).toEqual(answer);
    },
  );

  test.each(['challenge', 'payload.challenge', 'headers.', 'body.a.b.c.d.e.f', 'query.a b'])(
    'takes no question from %s',
    (echo) => expect(ChallengeSettings.safeParse({ echo }).success).toBe(false),
  );

  test('graph echoes its validation token', () => {
    const query = { validationToken: 'Validation: Testing client application reachability 1' };
    expect(ask({ kind: 'graph' }, { query })).toEqual(text(query.validationToken));
    expect(ask({ kind: 'graph' }, { query, body: { value: [] } })).toEqual({ kind: 'none' });
  });

  test('zoom gets its token signed, as its docs describe it', () => {
    const body = {
      event: 'endpoint.url_validation',
      payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' },
      event_ts: 1654503849680,
    };
    // Made with openssl.
    const encryptedToken = 'bd48235863f4a6323ccc4963c594908b7c97f88b4a6a95278f4f093690b12726';
    expect(ask({ kind: 'zoom', secret: 'zoom_secret_token' }, { body })).toEqual({
      kind: 'answer',
      contentType: 'application/json',
      body: JSON.stringify({ plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken }),
      headers: [],
    });
  });

  test('zoom cannot be used to sign an event', () => {
    const forged = 'v0:1700000000:{"event":"meeting.started"}';
    const body = { event: 'endpoint.url_validation', payload: { plainToken: forged } };
    const result = ask({ kind: 'zoom', secret: 's' }, { body });
    expect(result).toEqual(wrong('secret'));
    expect(JSON.stringify(result)).not.toContain(createHmac('sha256', 's').update(forged).digest('hex'));
  });

  test('cloudevents allows the origin that asks', () => {
    const headers = { 'WebHook-Request-Origin': 'eventemitter.example.com' };
    expect(ask({ kind: 'cloudevents' }, { method: 'OPTIONS', headers })).toMatchObject({
      kind: 'answer',
      headers: [
        'allow',
        'POST',
        'webhook-allowed-origin',
        'eventemitter.example.com',
        'webhook-allowed-rate',
        '*',
      ],
    });
    const odd = { 'WebHook-Request-Origin': 'a b' };
    expect(ask({ kind: 'cloudevents' }, { method: 'OPTIONS', headers: odd })).toEqual(wrong('origin'));
  });

  test.each<readonly [string, Challenge, Question]>([
    ['an event of slack', { kind: 'slack' }, { body: { type: 'event_callback', challenge: 'x' } }],
    [
      'a challenge inside an event',
      { kind: 'slack' },
      { body: { event: { type: 'url_verification', challenge: 'x' } } },
    ],
    [
      'a GET of slack',
      { kind: 'slack' },
      { method: 'GET', body: { type: 'url_verification', challenge: 'x' } },
    ],
    ['an event of meta', { kind: 'meta', token: 't' }, { body: { object: 'page' } }],
    ['an event of graph', { kind: 'graph' }, { body: { value: [] } }],
    ['an event of zoom', { kind: 'zoom', secret: 's' }, { body: { event: 'meeting.started' } }],
    ['an event', { kind: 'cloudevents' }, { body: {} }],
  ])('%s asks nothing', (_name, challenge, question) => {
    expect(ask(challenge, question)).toEqual({ kind: 'none' });
  });

  test.each<readonly [string, Challenge, Question]>([
    ['more than 1 KB', { kind: 'slack' }, { body: { type: 'url_verification', challenge: 'é'.repeat(513) } }],
    ['nothing', { kind: 'graph' }, { query: { validationToken: '' } }],
    ['no challenge', { kind: 'slack' }, { body: { type: 'url_verification' } }],
  ])('%s is not echoed', (_name, challenge, question) => {
    expect(ask(challenge, question)).toEqual(wrong('text'));
  });
});
