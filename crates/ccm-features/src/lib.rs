//! One set of features for the libraries of ccm, whatever part of ccm is built. There is no code here.
