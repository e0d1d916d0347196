import type { Scheme, SignatureColumns, Way } from './scheme.ts';

/** What stands against a second sending of the same request. */
export interface ReplayFacts {
  /** The time of signing is signed, and looked at both ways. */
  readonly signedTime: boolean;
  /** An id of the delivery is signed, so a repeat is known by it. */
  readonly signedId: boolean;
}

export function replayOf(way: Way): ReplayFacts {
  switch (way.kind) {
    case 'signature':
      return replayOfColumns(way.columns);
    case 'mailgun':
      return { signedTime: true, signedId: true };
    case 'twilio':
    case 'secret':
      return { signedTime: false, signedId: false };
  }
}

/** A timestamp in the JSON body is signed with the body. */
function replayOfColumns({ signed, timestampMember }: SignatureColumns): ReplayFacts {
  const isMemberSigned = timestampMember !== undefined && signed.includes('{body}');
  return { signedTime: signed.includes('{timestamp}') || isMemberSigned, signedId: signed.includes('{id}') };
}

/** One line for each different way of a provider, for the table in the documentation. */
export function describeReplay(scheme: Scheme): string {
  const words = scheme.ways.map(({ way }) => {
    const { signedTime, signedId } = replayOf(way);
    const known = [
      ...(signedTime ? [`signed time, ${String(scheme.toleranceSeconds)} s both ways`] : []),
      ...(signedId ? ['signed id'] : []),
    ];
    return known.length === 0 ? 'none possible' : known.join(', ');
  });
  return [...new Set(words)].join('; or ');
}
