export interface Request {
  readonly body: { readonly text: string };
}
export interface Response {
  json(body: object): void;
}
