module.exports = function (req, res, next) {
  res.status(200).send(req.body.text);
  next();
};
