import { describe, expect, onTestFinished, test } from 'vitest';
import { whatsapp } from '../../../src/service/channels/whatsapp.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = 'EAAJB0examplesystemusertoken';
const NUMBER = '106540352242922';
const NEVER = new AbortController().signal;

const error = (status: number, code: number, details: string): PlatformReply => ({
  status,
  body: {
    error: {
      message: `(#${code}) Error`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'Az8or2yhqkZfEZ-_4Qn_Bam',
    },
  },
});

function accepted(request: ReceivedRequest): PlatformReply {
  if (request.method === 'GET') {
    return {
      status: 200,
      body: { id: NUMBER, display_phone_number: '+1 555-078-3881', verified_name: 'Acme' },
    };
  }
  const to = request.body?.['to'];
  return {
    status: 200,
    body: {
      messaging_product: 'whatsapp',
      contacts: [{ input: to, wa_id: to }],
      messages: [{ id: 'wamid.HBgL' }],
    },
  };
}

async function send(reply: (request: ReceivedRequest) => PlatformReply, to: string, text = 'hi') {
  const platform = await startPlatform(reply);
  onTestFinished(platform.stop);
  const adapter = await whatsapp.open({
    accessToken: TOKEN,
    phoneNumberId: 106540352242922,
    baseUrl: platform.url,
  });
  const result = await adapter.send({ to, text, plain: false, key: 'k' }, NEVER);
  return { result, request: platform.requests[0] };
}

describe('the whatsapp adapter', () => {
  describeChannel({
    module: whatsapp,
    settings: (baseUrl) => ({ accessToken: TOKEN, phoneNumberId: NUMBER, baseUrl }),
    to: '+15551234567',
    badRecipients: ['@alice', '123', 'someone@example.org', '', '+0155512345678', '12345678901234567'],
    secrets: [TOKEN],
    sendOf: (request) =>
      request.path === `/v25.0/${NUMBER}/messages`
        ? {
            text: (request.body?.['text'] as { body: string } | undefined)?.body,
            authorized: request.headers['authorization'] === `Bearer ${TOKEN}`,
          }
        : undefined,
    accepted,
    messageId: 'wamid.HBgL',
    account: '+1 555-078-3881',
    rateLimited: {
      reply: error(400, 131056, '(Business Account, Consumer Account) pair rate limit hit'),
      retryAfterMs: 6000,
    },
    unauthorized: error(401, 190, 'Error validating access token: Session has expired'),
    serverError: { error: { message: 'Something went wrong', code: 131000 } },
  });

  test('takes a phone number as people write it', async () => {
    for (const to of ['+1 (555) 123-4567', '15551234567', 'whatsapp:+1.555.123.4567']) {
      const { request } = await send(accepted, to);
      expect(request?.body).toEqual({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '15551234567',
        type: 'text',
        text: { preview_url: false, body: 'hi' },
      });
    }
  });

  test('writes Markdown in the notation of WhatsApp', async () => {
    const { request } = await send(
      accepted,
      '+15551234567',
      '# Done\n**3** of ~~4~~ [runs](https://ci.example/1) `a<b`',
    );
    expect(request?.body?.['text']).toMatchObject({
      body: '*Done*\n*3* of ~4~ runs (https://ci.example/1) `a<b`',
    });
  });

  test('explains the 24 hour window, and tells other errors apart', async () => {
    for (const [status, code, expected] of [
      [400, 131047, { kind: 'failed', code: 'outside_window', message: expect.stringContaining('24 hours') }],
      [400, 131030, { kind: 'failed', code: 'not_found', message: expect.stringContaining('API Setup') }],
      [400, 131026, { kind: 'failed', code: 'not_found' }],
      [403, 10, { kind: 'failed', code: 'forbidden' }],
      [400, 100, { kind: 'failed', code: 'rejected' }],
      [429, 130429, { kind: 'retry', code: 'rate_limited' }],
    ] as const) {
      const { result } = await send(() => error(status, code, 'details'), '+15551234567');
      expect(result).toMatchObject(expected);
    }
  });
});
