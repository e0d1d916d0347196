import { createCipheriv, createHash } from 'node:crypto';

export default () => [createCipheriv, createHash];
