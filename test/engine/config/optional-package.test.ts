import { expect, test } from 'vitest';
import { explainMissingPackages, findMissingPackages } from '../../../src/engine/config/config.ts';

test('finds the packages that are not installed', () => {
  expect(findMissingPackages(['zod', 'left-beeper', 'ai'], import.meta.url)).toEqual(['left-beeper']);
});

test('names the command that installs them, in the major version Sluice is tested with', () => {
  expect(explainMissingPackages('channel email', ['nodemailer'])).toBe(
    'channel email needs the package nodemailer: npm install nodemailer@10',
  );
  expect(explainMissingPackages('the model runner', ['ai', '@ai-sdk/openai', 'left-beeper'])).toBe(
    'the model runner needs the packages ai, @ai-sdk/openai, left-beeper: npm install ai@7 @ai-sdk/openai@4 left-beeper',
  );
});
