/** The part in use of a package that npm leaves out silently under an older Node: the rest has to compile all the same. */
declare module 'mailauth/lib/dkim/verify.js' {
  interface SignatureStatus {
    readonly result: string;
    readonly aligned?: string | false;
    readonly testing?: boolean;
    /** Bytes behind the part of the body that is signed. */
    readonly underSized?: number;
  }
  export function dkimVerify(
    message: Buffer,
    options: { resolver: (name: string) => Promise<string[][]>; strict: true; minBitLength: number },
  ): Promise<{ headerFrom: readonly string[]; results: readonly { readonly status: SignatureStatus }[] }>;
}
