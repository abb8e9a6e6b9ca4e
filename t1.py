from kernelbraid import LKG
from sklearn.datasets import make_blobs, load_digits
import numpy as np, time, warnings
from sklearn.metrics import adjusted_rand_score as ar
X,y=make_blobs(300,5,centers=6,random_state=0)
for kw in [dict(n_clusters="auto"),dict(n_clusters="auto",min_cluster_size=40),dict(n_clusters=6,min_cluster_size=20),dict(n_clusters="auto",assign_labels="kmeans"),dict(n_clusters="auto",preset="authors")]:
    t=time.time(); m=LKG(**kw,random_state=0).fit(X); print(kw,m.n_clusters_,ar(y,m.labels_),m.reliability_,m.why_,m.levels_,time.time()-t)
    m.predict(X+.01); m.confidence_
    if m.levels_ and len(m.levels_)>1:
        o=m.at_level(0); print(o.n_clusters_,o.labels_.max()+1,o.reliability_,o.why_,o.predict(X[:3]),o.confidence_[:3],o.levels_)
m=LKG("auto").fit(np.random.RandomState(0).normal(size=(300,4))); print(m.n_clusters_,m.why_,m.levels_)
