/**
 * What is used of optional packages that ask for a newer engine than some hosts install with: npm leaves those out
 * without a word, and the rest has to compile all the same.
 */
declare module '@microsoft/teams.api' {
  interface RequestConfig {
    headers?: Record<string, string>;
    signal?: AbortSignal;
    maxRedirects?: number;
    maxContentLength?: number;
  }

  interface Middleware {
    invoke<Result>(context: { config: RequestConfig }, next: () => Promise<Result>): Promise<Result>;
  }

  interface ClientOptions {
    token: string;
    timeout: number;
    middlewares: Middleware[];
    logger: object;
  }

  export class Client {
    constructor(serviceUrl: string, options: ClientOptions);
    readonly conversations: {
      activities(conversationId: string): {
        create(activity: {
          type: 'message';
          text: string;
          textFormat: 'markdown' | 'plain';
        }): Promise<unknown>;
      };
    };
  }
}
