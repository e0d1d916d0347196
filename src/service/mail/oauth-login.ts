import type { TokenEndpointResponse } from 'openid-client';
import { MailFailure } from './mail-failure.ts';
import {
  type OAuthFile,
  oauthConfiguration,
  oauthFailure,
  withTokens,
  type OAuthClient,
  type OAuthEndpoints,
} from './oauth.ts';

export interface OAuthLogin {
  readonly provider: OAuthFile['provider'];
  readonly endpoints: OAuthEndpoints;
  readonly client: OAuthClient;
  readonly scope: string;
  readonly signal: AbortSignal;
}

/** A page of this machine that a browser is sent back to. */
export interface Redirect {
  /** The address of the listener, on loopback. */
  readonly url: string;
  /** The address the browser came back with. */
  readonly received: Promise<URL>;
}

interface BrowserLogin {
  readonly account: string;
  readonly redirect: Redirect;
  readonly show: (url: string) => void;
}

/**
 * Authorization code with PKCE over loopback (RFC 8252, RFC 7636): the person logs in in a browser of this machine.
 * @throws MailFailure
 */
export async function loginWithBrowser(
  login: OAuthLogin,
  { account, redirect, show }: BrowserLogin,
): Promise<OAuthFile> {
  const configuration = await oauthConfiguration(login.endpoints, login.client);
  const oauth = await import('openid-client');
  const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
  const expectedState = oauth.randomState();
  const url = oauth.buildAuthorizationUrl(configuration, {
    ...(await askedOf(login, { account, redirect, pkceCodeVerifier })),
    state: expectedState,
  });
  show(url.href);
  const back = await untilAborted(redirect.received, login.signal);
  return finish(login, () =>
    oauth.authorizationCodeGrant(configuration, back, { pkceCodeVerifier, expectedState }),
  );
}

async function askedOf(
  { scope }: OAuthLogin,
  { account, redirect, pkceCodeVerifier }: { account: string; redirect: Redirect; pkceCodeVerifier: string },
): Promise<Record<string, string>> {
  const { calculatePKCECodeChallenge } = await import('openid-client');
  return {
    redirect_uri: redirect.url,
    scope,
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    login_hint: account,
    // Only with this Google gives a refresh token.
    access_type: 'offline',
    prompt: 'consent',
  };
}

/** The code that a person types in at another device. */
export interface DeviceCode {
  readonly url: string;
  readonly code: string;
}

/**
 * Device flow (RFC 8628): the person logs in at any device, so it also works on a server without a browser.
 * @throws MailFailure
 */
export async function loginWithDevice(
  login: OAuthLogin,
  show: (device: DeviceCode) => void,
): Promise<OAuthFile> {
  const configuration = await oauthConfiguration(login.endpoints, login.client);
  const oauth = await import('openid-client');
  return finish(login, async () => {
    const device = await oauth.initiateDeviceAuthorization(configuration, { scope: login.scope });
    show({ url: device.verification_uri, code: device.user_code });
    return oauth.pollDeviceAuthorizationGrant(configuration, device, undefined, { signal: login.signal });
  });
}

async function finish(login: OAuthLogin, ask: () => Promise<TokenEndpointResponse>): Promise<OAuthFile> {
  const { provider, endpoints, client, scope } = login;
  const { clientId, clientSecret } = client;
  let answer: TokenEndpointResponse;
  try {
    answer = await ask();
  } catch (error) {
    if (login.signal.aborted) throw tooLate();
    throw oauthFailure(error, [clientSecret ?? '']);
  }
  const file = { version: 1 as const, provider, clientId, tokenEndpoint: endpoints.token, scope };
  return withTokens({ ...file, ...(clientSecret === undefined ? {} : { clientSecret }) }, answer, Date.now());
}

function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(tooLate());
    signal.addEventListener('abort', () => reject(tooLate()), { once: true });
    value.then(resolve, reject);
  });
}

function tooLate(): MailFailure {
  return new MailFailure('authentication', 'the login was not finished in time');
}
