export const format = (): string => 'x';
