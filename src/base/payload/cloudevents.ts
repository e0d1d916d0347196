import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';
import { fieldAt, type JsonValue } from '../json.ts';
import { formatOf, mediaType } from './formats.ts';
import { parseJsonBody } from './json-body.ts';
import type { ReceivedBody } from './received-body.ts';
import { decodeUtf8 } from './text.ts';

/** Every event has these (CloudEvents 1.0, section 3.1). */
const REQUIRED = ['specversion', 'id', 'source', 'type'] as const;
const ATTRIBUTE = /^ce-([a-z0-9]{1,40})$/;

/**
 * A CloudEvent in either HTTP form (CloudEvents 1.0, HTTP protocol binding): structured as it is, binary put together
 * from its `ce-` headers and its body. So mappings read `type`, `source` and `data.…` whatever the sender chose.
 * @throws HookError `invalid_body`, `invalid_json`, `invalid_utf8`
 */
export function parseCloudEvent(body: ReceivedBody, decoder: TextDecoder): JsonValue {
  const type = mediaType(body.headers['content-type']);
  if (!type.startsWith('application/cloudevents')) return checkedEvent(binaryEvent(body, decoder));
  if (type.startsWith('application/cloudevents-batch')) {
    throw new HookError(
      'invalid_body',
      'the body is a batch of CloudEvents; send each event in a request of its own',
    );
  }
  if (type !== 'application/cloudevents+json') {
    throw new HookError(
      'invalid_body',
      'the CloudEvent is not written as JSON (application/cloudevents+json)',
    );
  }
  return checkedEvent(parseJsonBody(body.bytes, decoder));
}

/** The attributes of an event that stand in headers. */
export function eventAttributes(headers: ReceivedBody['headers']): Record<string, JsonValue> {
  const event = Object.create(null) as Record<string, JsonValue>;
  for (const [name, value] of Object.entries(headers)) {
    const attribute = ATTRIBUTE.exec(name)?.[1];
    if (attribute !== undefined) event[attribute] = percentDecoded(value);
  }
  return event;
}

function binaryEvent({ bytes, headers }: ReceivedBody, decoder: TextDecoder): JsonValue {
  const event = eventAttributes(headers);
  const contentType = headers['content-type'];
  if (contentType !== undefined) event['datacontenttype'] = contentType;
  if (bytes.length === 0) return event;
  const type = mediaType(contentType);
  if (contentType === undefined || formatOf(contentType) === 'json')
    event['data'] = parseJsonBody(bytes, decoder);
  else if (type.startsWith('text/') || formatOf(contentType) === 'xml')
    event['data'] = decodeUtf8(bytes, decoder);
  else event['data_base64'] = bytes.toString('base64');
  return event;
}

/** Attribute values are percent-encoded in headers (section 3.1.3.2 of the binding). */
function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function checkedEvent(event: JsonValue): JsonValue {
  const missing = REQUIRED.find((name) => {
    const value = fieldAt(event, [name]);
    return typeof value !== 'string' || value === '';
  });
  if (missing === undefined) return event;
  throw new HookError(
    'invalid_body',
    `this path takes CloudEvents, and this request has no "${missing}": neither a ce-${missing} header nor a body of application/cloudevents+json with it`,
  );
}
