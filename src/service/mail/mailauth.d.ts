/** The part in use of a package that npm leaves out silently under an older Node: the rest has to compile all the same. */
declare module 'mailauth/lib/dkim/verify.js' {
  interface CheckedSignature {
    /** `underSized` counts the bytes of the body behind what is signed. */
    readonly status: { result: string; aligned?: string | false; testing?: boolean; underSized?: number };
  }
  export function dkimVerify(
    message: Buffer,
    options: { resolver: (name: string) => Promise<string[][]>; strict: true },
  ): Promise<{ readonly headerFrom: readonly string[]; readonly results: readonly CheckedSignature[] }>;
}
