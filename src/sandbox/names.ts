/** The one bare specifier a transform may import. */
export const VIRTUAL_MODULE = 'sluice';

/** Name under which a linked script leaves the entry's exports. */
export const LINKED_NAME = '__sluice_module';

/** What stands before a linked script inside its isolate; the script begins on the next line. */
export const SCRIPT_PREFIX = "(() => { 'use strict';\n";

/** File name of a linked script inside its isolate, by which its stack frames are known. */
export const MODULE_FILE = 'sluice-transform:module';
