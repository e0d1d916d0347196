export { SIGNATURE_NAME } from './secret-names.ts';
