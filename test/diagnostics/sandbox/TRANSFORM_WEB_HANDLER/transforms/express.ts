import type { Request, Response } from './types.ts';

export default async (req: Request, res: Response) => {
  res.json({ message: req.body.text });
};
