/** The one bare specifier a transform may import. */
export const VIRTUAL_MODULE = 'sluice';

/** Name under which a linked script leaves the entry's exports. */
export const LINKED_NAME = '__sluice_module';

/** File name of a linked script inside its isolate, by which its stack frames are known. */
export const MODULE_FILE = 'sluice-transform:module';
