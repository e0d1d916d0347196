import { get } from 'lodash';
import axios from 'axios';
import { z } from 'zod';
export default async ({ payload }) => {
  const { data } = await axios.get(`https://api.example.com/issues/${payload.id}`, { timeout: 5 });
  return { message: get(payload, 'user.name', 'nobody') + data };
};
