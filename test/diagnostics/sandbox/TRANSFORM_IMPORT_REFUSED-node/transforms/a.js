import { readFileSync } from 'node:fs';
import https from 'https';
import { setTimeout as sleep } from 'node:timers/promises';
import { execSync } from 'child_process';
import { URL } from 'node:url';

export default () => [readFileSync, https, sleep, execSync, URL];
